/** The peaks, and what was alive at one of them or at a chosen moment. */
import { useState } from 'preact/hooks';
import type { Memory } from '../../api/types.gen';
import { Alive } from './Alive';
import { Blocks } from './Blocks';
import { lengthOf } from './holdings';
import { placeName } from './lanes';
import { Peaks } from './Peaks';

export function AtMoment({ data }: { data: Memory }) {
  const [chosen, choose] = useState<string | null>(null);
  const alive = data.alive.filter((each) => each.component === data.component);
  const names = alive.map((each) => placeName(each, alive));
  // Of several, the one that held most, until another is chosen.
  const most = alive.reduce((best, each, at) => {
    const other = alive[best];
    return other && lengthOf(each) > lengthOf(other) ? at : best;
  }, 0);
  const at = chosen !== null && names.includes(chosen) ? names.indexOf(chosen) : most;
  const shown = alive[at];
  return (
    <div class="halves">
      <div class="column">
        <Peaks data={data} />
        {shown && <Blocks alive={shown} name={names[at] ?? ''} />}
      </div>
      <Alive alive={alive} names={names} at={at} choose={choose} />
    </div>
  );
}
