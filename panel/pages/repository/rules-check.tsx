import { useSignal } from '@preact/signals';
import type { JSX } from 'preact';
import { useEffect } from 'preact/hooks';
import { send } from '../../api/client.ts';
import { asRequestError, type RequestError } from '../../api/errors.ts';
import { repositoryPath } from '../../api/paths.ts';
import type { RulesCheckView } from '../../api/types.ts';
import { ErrorNote } from '../../components/error-note.tsx';
import { Table } from '../../components/table.tsx';
import { Ago } from '../../components/times.tsx';
import type { Rule } from '../../view/rule-form.ts';

const checkMs = 350;
const maxShown = 10;

/** What rules would match, checked while they are edited. */
export function RulesCheck({ id, rules }: { id: string; rules: readonly Rule[] }): JSX.Element {
  const result = useSignal<RulesCheckView | undefined>(undefined);
  const failure = useSignal<RequestError | undefined>(undefined);
  const isWhole = useSignal(false);
  const text = JSON.stringify(rules);
  useEffect(() => {
    const ended = new AbortController();
    const timer = setTimeout(() => {
      const path = `${repositoryPath(id)}/rules/check`;
      send<RulesCheckView>('POST', path, { body: { rules }, signal: ended.signal })
        .then((checked) => {
          result.value = checked;
          failure.value = undefined;
        })
        .catch((thrown: unknown) => {
          if (!ended.signal.aborted) failure.value = asRequestError(thrown);
        });
    }, checkMs);
    return () => {
      clearTimeout(timer);
      ended.abort();
    };
  }, [text, id]);
  const checked = result.value;
  if (failure.value) return <ErrorNote error={failure.value} />;
  if (!checked) return <p class="muted">Checking which refs the rules match…</p>;
  if (checked.listedAt === undefined) {
    return <p class="muted">The refs were not listed within a day. Sync the repository to see what the rules match.</p>;
  }
  const { refs, leftOut } = checked;
  const isCreated = ({ environment, id: existing }: RulesCheckView['refs'][number]) =>
    environment !== 'none' && existing === undefined;
  const sorted = refs.toSorted((one, other) => Number(isCreated(other)) - Number(isCreated(one)));
  const shown = isWhole.value ? sorted : sorted.slice(0, maxShown);
  const more = leftOut.branches + leftOut.tags + leftOut.pullRequests;
  return (
    <>
      <p role="status">
        {refs.filter(isCreated).length} of {refs.length} refs get a new environment, {checked.unmatched} match no rule.{' '}
        <span class="muted">
          Listed <Ago at={Date.parse(checked.listedAt) / 1000} />
          {more > 0 && `; ${more} more refs are not checked`}.
        </span>
      </p>
      {shown.length > 0 && (
        <Table columns={['Ref', 'Gets', 'Why']}>
          {shown.map((ref) => (
            <tr key={`${ref.type} ${ref.name}`}>
              <td class="isolate">
                {ref.type !== 'branch' && <span class="muted">{ref.type} </span>}
                {ref.name}
              </td>
              <td>{ref.id === undefined ? ref.environment : 'already has one'}</td>
              <td class="muted isolate">{ref.why}</td>
            </tr>
          ))}
        </Table>
      )}
      {refs.some(({ id: existing }) => existing !== undefined) && (
        <p class="muted">
          Rules create environments. A ref that already has one keeps it, and its new commits are still built as set
          under <a href="#sync">Synchronization</a>.
        </p>
      )}
      {sorted.length > shown.length && (
        <div>
          <button type="button" class="ghost" onClick={() => (isWhole.value = true)}>
            Show all {sorted.length} refs
          </button>
        </div>
      )}
    </>
  );
}
