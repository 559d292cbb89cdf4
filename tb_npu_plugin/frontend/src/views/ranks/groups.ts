/** Groupings whose rows are ranks put together: the picture shows them too. */
const OF_RANKS = ['host', 'device', 'tp', 'cp', 'ep', 'dp', 'pp'];

/** The grouping of the picture, by that of the table. */
export function pictured(group: string | undefined): string | null {
  return group && OF_RANKS.includes(group) ? group : null;
}
