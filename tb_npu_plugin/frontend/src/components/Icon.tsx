/** Line icons of 16 px, drawn for this page; decoration only, words carry the meaning. */
const PATHS = {
  overview: 'M2.5 2.5h4v6h-4zM9.5 2.5h4v3h-4zM9.5 8.5h4v5h-4zM2.5 11.5h4v2h-4z',
  step: 'M2.5 4h7M2.5 8h11M2.5 12h5',
  timeline: 'M2 3.5h6M6 6.5h8M3.5 9.5h4M9.5 9.5h4M5 12.5h7',
  flame: 'M2.5 3h11M2.5 6.5h7M11.5 6.5h2M2.5 10h4M8 10h1.5M2.5 13.5h2',
  kernel:
    'M4.5 4.5h7v7h-7zM6.5 2v2.5M9.5 2v2.5M6.5 11.5V14M9.5 11.5V14M2 6.5h2.5M2 9.5h2.5M11.5 6.5H14M11.5 9.5H14',
  operator: 'M3.5 3.5h3v3h-3zM9.5 9.5h3v3h-3zM6.5 5h4.5v4.5',
  api: 'M5.5 4 2 8l3.5 4M10.5 4 14 8l-3.5 4M9 3l-2 10',
  memory: 'M3.5 5.5h9v5h-9zM5.5 3v2.5M8 3v2.5M10.5 3v2.5M5.5 10.5V13M8 10.5V13M10.5 10.5V13',
  communication: 'M2.5 5.5h9M9 3l2.5 2.5L9 8M13.5 10.5h-9M7 8l-2.5 2.5L7 13',
  ranks: 'M2.5 13.5v-5M6 13.5v-8M9.5 13.5V2.5M13 13.5v-7',
  health: 'M1.5 8.5h3l2-5 3 9 2-4h3',
  files: 'M4 1.5h5l3 3v10H4zM9 1.5v3h3',
  other: 'M3 8h10M8 3v10',
  down: 'M4.5 6.5 8 10l3.5-3.5',
  left: 'M10 4 6 8l4 4',
  right: 'M6 4l4 4-4 4',
  close: 'M4 4l8 8M12 4l-8 8',
  copy: 'M5.5 5.5v-3h8v8h-3M2.5 5.5h8v8h-8z',
  check: 'M3 8.5l3.5 3.5L13 5',
  link: 'M6.5 9.5l3-3M7 4.5l1.6-1.6a2.8 2.8 0 0 1 4 4L11 8.5M9 11.5l-1.6 1.6a2.8 2.8 0 0 1-4-4L5 7.5',
  columns: 'M2.5 3h11v10h-11zM6 3v10M10 3v10',
  download: 'M8 2.5v7M5 7l3 3 3-3M3 13h10',
  search: 'M7 12a5 5 0 1 0 0-10 5 5 0 0 0 0 10zM10.8 10.8 14 14',
  filter: 'M2.5 3.5h11L9.5 8.5v4l-3 1v-5z',
  error: 'M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8zM5.8 5.8l4.4 4.4M10.2 5.8l-4.4 4.4',
  warning: 'M8 2.2 14.2 13.2H1.8zM8 6.2v3.4M8 11.4v.2',
  pin: 'M6 2.5h4l-.5 4 2.5 2.5H4l2.5-2.5zM8 9v5',
  more: 'M3.5 8h.1M8 8h.1M12.5 8h.1',
  undo: 'M6 4 2.5 7.5 6 11M3 7.5h6.5a3.5 3.5 0 0 1 0 7',
  box: 'M2.5 5.5v-3h3M10.5 2.5h3v3M13.5 10.5v3h-3M5.5 13.5h-3v-3',
  flag: 'M4 14V2.5h8L9.5 5.5 12 8.5H4',
  up: 'M4.5 9.5 8 6l3.5 3.5',
  info: 'M8 1.8a6.2 6.2 0 1 1 0 12.4A6.2 6.2 0 0 1 8 1.8zM8 7.2v4M8 4.8V5',
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      class={`icon icon-${name}`}
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      stroke="currentColor"
      stroke-width="1.4"
      stroke-linecap="round"
      stroke-linejoin="round"
      aria-hidden="true"
    >
      <path d={PATHS[name]} />
    </svg>
  );
}
