/** The view as a picture: the canvas, with the names of its rows beside it. */
import { writeIn } from '../../charts/timeline/paint';
import { panesOf } from '../../charts/timeline/pane';
import { rowsBetween } from '../../charts/timeline/rows';
import type { Board } from './useBoard';

const NAMES = 220;

export function savePicture({ stage, tree }: Board): void {
  const { current } = stage;
  if (!current) return;
  const { element, width, height, scroll } = current;
  const ratio = element.width / width;
  const picture = document.createElement('canvas');
  picture.width = Math.round((width + NAMES) * ratio);
  picture.height = element.height;
  const ink = picture.getContext('2d');
  if (!ink) return;
  const style = getComputedStyle(element);
  const colour = (token: string) => style.getPropertyValue(`--${token}`).trim();
  ink.scale(ratio, ratio);
  ink.fillStyle = colour('panel');
  ink.fillRect(0, 0, width + NAMES, height);
  ink.drawImage(element, NAMES, 0, width, height);
  ink.textBaseline = 'middle';
  for (const pane of panesOf(tree, height, scroll)) {
    ink.save();
    ink.beginPath();
    ink.rect(0, pane.top, NAMES, pane.height);
    ink.clip();
    for (const row of rowsBetween(pane.rows, pane.scroll, pane.scroll + pane.height)) {
      const top = row.top - pane.scroll + pane.top;
      ink.font = `${row.kind === 'track' ? '' : '600 '}11px ${style.fontFamily}`;
      ink.fillStyle = colour('line');
      ink.fillRect(0, top + row.height - 1, NAMES, 1);
      ink.fillStyle = colour(row.kind === 'track' ? 'ink2' : 'ink');
      const left = 6 + row.level * 10;
      writeIn(ink, row.label, left, top + Math.min(row.height / 2, 12), NAMES - left);
    }
    ink.restore();
  }
  picture.toBlob((blob) => {
    if (!blob) return;
    const link = document.createElement('a');
    link.href = URL.createObjectURL(blob);
    link.download = 'timeline.png';
    link.click();
    setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  });
}
