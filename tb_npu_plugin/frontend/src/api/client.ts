/** Talks to the backend: relative addresses, typed errors, nothing else. */
import type { ErrorBody, Meta } from './types.gen';

export type Query = Readonly<Record<string, string | number | null | undefined>>;

/** What every reply looks like. */
export interface Reply {
  data: unknown;
  meta: Meta;
}

/** The backend answered, and the answer is no. */
export class ApiError extends Error {
  constructor(
    readonly status: number,
    readonly body: ErrorBody,
  ) {
    super(body.message);
  }
}

/** Nobody answered: TensorBoard was stopped, or the way to it broke. */
export class GoneError extends Error {}

/** `…/data/plugin/npu_profiler/`; set by the entry, whose own address ends in `static/index.js`. */
let base = new URL('.', document.baseURI);

export function setApiBase(url: URL): void {
  base = url;
}

/** The address of a route; empty parameters are left out. */
export function apiUrl(route: string, query: Query = {}): string {
  const url = new URL(route, base);
  for (const [key, value] of Object.entries(query)) {
    if (value !== null && value !== undefined && value !== '') {
      url.searchParams.set(key, String(value));
    }
  }
  return url.href;
}

export async function get<T>(route: string, query: Query, signal: AbortSignal): Promise<T> {
  const response = await ask(route, query, signal, 'application/json');
  const body = await readJson(response, signal);
  if (response.ok && isReply(body)) return body as T;
  throw new ApiError(response.status, errorBody(response, body));
}

/** A reply that is no JSON; what goes wrong is told in JSON all the same. */
export async function getBytes(
  route: string,
  query: Query,
  signal: AbortSignal,
): Promise<ArrayBuffer> {
  const response = await ask(route, query, signal, 'application/octet-stream, application/json');
  if (!response.ok) {
    throw new ApiError(response.status, errorBody(response, await readJson(response, signal)));
  }
  return await response.arrayBuffer();
}

async function ask(
  route: string,
  query: Query,
  signal: AbortSignal,
  accept: string,
): Promise<Response> {
  try {
    return await fetch(apiUrl(route, query), { signal, headers: { Accept: accept } });
  } catch (error) {
    if (signal.aborted) throw error;
    throw new GoneError(String(error));
  }
}

async function readJson(response: Response, signal: AbortSignal): Promise<unknown> {
  try {
    return await response.json();
  } catch (error) {
    if (signal.aborted) throw error;
    return null; // a proxy's HTML page, or a reply cut short
  }
}

function isReply(body: unknown): body is Reply {
  return typeof body === 'object' && body !== null && 'data' in body && 'meta' in body;
}

function errorBody(response: Response, body: unknown): ErrorBody {
  const error = (body as { error?: Partial<ErrorBody> } | null)?.error;
  return {
    code: error?.code ?? `http-${response.status}`,
    message: error?.message ?? `HTTP ${response.status} ${response.statusText}`.trim(),
    hint: error?.hint ?? '',
    position: error?.position ?? null,
  };
}
