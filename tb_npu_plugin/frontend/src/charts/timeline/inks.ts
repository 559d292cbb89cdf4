/** The colours and the font of the page, read once per theme. */
import { type Palette, paletteFor } from './palette';

export class Inks {
  private tokens = new Map<string, string>();
  private made: Palette | null = null;
  private family = 'sans-serif';

  constructor(private readonly element: HTMLElement) {}

  /** The theme has changed. */
  forget(): void {
    this.tokens.clear();
    this.made = null;
  }

  token = (name: string): string => {
    let value = this.tokens.get(name);
    if (value === undefined) {
      value = getComputedStyle(this.element).getPropertyValue(`--${name}`).trim();
      this.tokens.set(name, value);
    }
    return value;
  };

  palette(dark: boolean): Palette {
    if (!this.made) {
      this.family = getComputedStyle(this.element).fontFamily || 'sans-serif';
      this.made = paletteFor(dark, this.token);
    }
    return this.made;
  }

  font(dense: boolean): string {
    return `${dense ? 9 : 11}px ${this.family}`;
  }
}
