/** All styles, as one adopted sheet: TensorBoard links no stylesheet of a plugin's entry. */
import base from './base.css?inline';
import charts from './charts.css?inline';
import controls from './controls.css?inline';
import frame from './frame.css?inline';
import pages from './pages.css?inline';
import states from './states.css?inline';
import table from './table.css?inline';
import timeline from './timeline.css?inline';
import tokens from './tokens.css?inline';
import views from './views.css?inline';

export function adoptStyles(): void {
  const sheet = new CSSStyleSheet();
  sheet.replaceSync(
    [tokens, base, frame, controls, table, charts, states, views, pages, timeline].join('\n'),
  );
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
}
