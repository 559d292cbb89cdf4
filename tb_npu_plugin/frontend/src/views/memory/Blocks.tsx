/** The largest single blocks that were alive then. */
import type { MemoryAlive } from '../../api/types.gen';
import { SimpleTable } from '../../components/table/SimpleTable';
import { shortTable } from '../../components/table/shortTable';
import { t } from '../../i18n';
import { visible } from '../../lib/text';

const SHOWN = 6;

export function Blocks({ alive, name }: { alive: MemoryAlive; name: string }) {
  const words = t.value.memory;
  const blocks = alive.blocks.slice(0, SHOWN);
  if (blocks.length === 0) return null;
  const title = words.largest(visible(name));
  return (
    <section class="card">
      <header class="card-head">
        <h2>{title}</h2>
      </header>
      <SimpleTable
        label={title}
        table={shortTable(blocks, [
          ['name', words.operator, 'name', (block) => block.name],
          ['size', words.size, 'bytes', (block) => block.size_bytes],
          ['alloc', words.allocatedAt, 'time', (block) => block.alloc_ns],
          ['release', words.releasedAt, 'time', (block) => block.release_ns],
        ])}
      />
    </section>
  );
}
