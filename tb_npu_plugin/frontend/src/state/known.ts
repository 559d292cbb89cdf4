/** Which views this version has, for links that name others. Declared once, by the registry. */
let ids: ReadonlySet<string> = new Set();

export function declareViews(all: readonly string[]): void {
  ids = new Set(all);
}

export function isKnownView(id: string): boolean {
  return ids.has(id);
}
