/** The heat map with its choices: which operations, which measure, with or without the diagonal. */
import { useMemo } from 'preact/hooks';
import type { RankMatrix } from '../../api/types.gen';
import { HeatMap } from '../../charts/HeatMap';
import { HeatScale } from '../../charts/HeatScale';
import { OptionList } from '../../components/OptionList';
import { Popover } from '../../components/Popover';
import { Segmented } from '../../components/Segmented';
import { LongText } from '../../components/Text';
import { t } from '../../i18n';
import { exact, formatDecimalBytes, formatDuration, formatRate } from '../../lib/format';
import { visible } from '../../lib/text';
import { navigate, params } from '../../state/route';
import { cellPatch, cellValue, drawnMatrix, isBlock, isLocal, MEASURES, measureOf } from './matrix';

const FORMAT = { bandwidth: formatRate, size: formatDecimalBytes, time: formatDuration };
const BASE = { bandwidth: 'B/s', size: 'B', time: 'ns' };

export function Matrix({ matrix }: { matrix: RankMatrix }) {
  const words = t.value.communication;
  const measure = measureOf(params.value.show);
  const local = params.value.local === '1';
  const format = FORMAT[measure];
  const drawn = useMemo(() => drawnMatrix(matrix, measure, local), [matrix, measure, local]);
  const n = matrix.ranks.length;
  const unit = format(drawn.most).split('\u00a0')[1] ?? '';
  const describe = (cell: number) => {
    const src = matrix.ranks[Math.floor(cell / n)]?.label ?? '';
    const dst = matrix.ranks[cell % n]?.label ?? '';
    const transport = matrix.transports[matrix.transport[cell] ?? -1];
    const rows = MEASURES.map((each) => {
      const value = cellValue(matrix, each, cell);
      return {
        label: words[each],
        value: FORMAT[each](value),
        share: value === null ? '' : exact(value, BASE[each], 0),
      };
    });
    return {
      title: `${src} → ${dst}`,
      rows: transport ? [{ label: words.transport, value: transport }, ...rows] : [],
      ...(transport ? {} : { note: words.noLink }),
    };
  };
  return (
    <section class="card matrix-card" aria-label={words.matrix}>
      <header class="chart-head">
        <h2>{words.matrix}</h2>
        <Keys matrix={matrix} />
        <Segmented
          label={words.measure}
          value={measure}
          options={MEASURES.map((each) => ({ value: each, text: words[each] }))}
          onChoose={(next) => navigate({ show: next }, 'replace')}
        />
        <label class="toggle" title={words.localHint}>
          <input
            type="checkbox"
            checked={local}
            onChange={() => navigate({ local: local ? null : '1' }, 'replace')}
          />
          {words.local}
        </label>
      </header>
      {n === 0 ? (
        <p class="quiet empty-line">{words.noMatrix}</p>
      ) : (
        <div class="matrix-body">
          <HeatMap
            names={drawn.names}
            rowNames={drawn.rowNames}
            values={drawn.values}
            most={drawn.most}
            breaks={drawn.breaks}
            label={words.heatMap(words[measure], n)}
            keys={words.keys}
            from={words.from}
            to={words.to}
            short={(value) => shortIn(format(value), unit)}
            describe={describe}
            onPick={(cell) =>
              !(isLocal(matrix, cell) && !local) && navigate(cellPatch(matrix, cell))
            }
          />
          <aside class="matrix-side">
            <HeatScale label={words[measure]} most={format(drawn.most)} none={words.noLink} />
            {!matrix.ranks.some(isBlock) && <p class="quiet">{words.clickHint}</p>}
            {matrix.note && (
              <p class="quiet">
                <LongText text={matrix.note} />
              </p>
            )}
          </aside>
        </div>
      )}
    </section>
  );
}

/** A figure inside a cell: its unit only where it is not the scale's. */
function shortIn(text: string, unit: string): string {
  const [figure = '', own = ''] = text.split('\u00a0');
  return own === unit || own === '' ? figure : figure.replace(/\.0+$/, '') + own;
}

function Keys({ matrix }: { matrix: RankMatrix }) {
  const words = t.value.communication;
  const now = matrix.keys.find((each) => each.key === matrix.key);
  return (
    <Popover
      caption={words.operations}
      label={<bdi>{visible(now?.label ?? matrix.key)}</bdi>}
      width={360}
    >
      {(close) => (
        <>
          <OptionList
            value={matrix.key}
            options={matrix.keys.map(({ key, label }) => ({ value: key, text: visible(label) }))}
            onChoose={(key) => {
              navigate({ key: key === 'total' ? null : key });
              close();
            }}
          />
          {matrix.keys.length < matrix.total_keys && (
            <p class="quiet">{words.moreKeys(matrix.keys.length, matrix.total_keys)}</p>
          )}
        </>
      )}
    </Popover>
  );
}
