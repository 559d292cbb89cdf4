/** In place of a page whose first answer is not there: what went wrong, or that it is on its way. */
import { Failure } from './Failure';
import { Skeleton } from './Skeleton';

export function Waiting({ error }: { error: Error | null }) {
  return error ? (
    <Failure error={error} />
  ) : (
    <section class="card">
      <Skeleton rows={8} />
    </section>
  );
}
