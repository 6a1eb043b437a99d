import type { JSX } from 'preact';
import { send } from '../../api/client.ts';
import type { EnvironmentItem, EnvironmentPage } from '../../api/items.ts';
import { environmentPath, repositoryPath } from '../../api/paths.ts';
import type { EnvironmentView, TestsView } from '../../api/types.ts';
import { Base64Image } from '../../components/base64-image.tsx';
import { Empty, ErrorNote, LoadError, Skeleton } from '../../components/error-note.tsx';
import { Icon, type IconName } from '../../components/icons.tsx';
import { Ago } from '../../components/times.tsx';
import { useAction } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';
import { useQuery } from '../../state/page.ts';
import { useResource } from '../../state/resource.ts';
import { decodeText } from '../../view/base64.ts';
import type { ShownState } from '../../view/shown-state.ts';
import { comparable, differenceText, usualBase } from '../../view/test-comparison.ts';
import { testedText, type History } from '../../view/test-history.ts';
import { visibleText } from '../../view/visible-text.ts';
import { TestPlots } from './test-plots.tsx';

type Test = TestsView['tests'][number];
type Item = NonNullable<Test['result']>[number];

const outcomes: Partial<Record<Test['outcome'], { state: ShownState; icon: IconName }>> = {
  passed: { state: 'built', icon: 'check' },
  failed: { state: 'failed', icon: 'cross' },
  error: { state: 'degraded', icon: 'warning' },
  running: { state: 'building', icon: 'progress' },
};

/** The results of the tests that the service file names, beside those of a base branch. */
export function Tests({ environment: { id, rid } }: { environment: EnvironmentView }): JSX.Element {
  const path = `${environmentPath(id)}/tests`;
  const resource = useResource<TestsView>(path);
  const run = useAction(async () => {
    await send('POST', path);
    notify('Tests requested.');
    resource.invalidate();
  });
  const found = resource.data.value;
  const error = resource.error.value;
  if (!found) {
    if (error) return <LoadError error={error} retry={() => void resource.reload()} what="list of tests" />;
    return <Skeleton what="tests" />;
  }
  const isWaiting = found.waiting === true;
  if (found.tests.length === 0 && !isWaiting) {
    return (
      <Empty title="No tests">
        <p>
          Tests check an environment after each build: that a page answers, looks as it should, and how fast. Name them
          in the service file under <code>x-coppice</code>.
        </p>
      </Empty>
    );
  }
  return (
    <div class="stack-small">
      <div class="spread">
        <p class="muted" role="status">
          {isWaiting ? 'The tests start when the services are ready. ' : testedText(found)}
          {isWaiting && found.tests.length > 0 && 'These results are older.'}
        </p>
        <button type="button" disabled={run.isPending.value || isWaiting} onClick={run.run}>
          <Icon name="play" /> Run again
        </button>
      </div>
      <ErrorNote error={run.error.value} />
      {(found.history ?? []).length < 2 && (
        <p class="muted">Numbers are plotted as soon as the tests of two builds have ended.</p>
      )}
      <Compared tests={found.tests} history={found.history ?? []} id={id} rid={rid} />
    </div>
  );
}

/** The results and the history of the environment's own tests. */
interface Own {
  tests: readonly Test[];
  history: History;
}

/** The results beside those of another environment, which the query `with` of the address selects. */
function Compared({ tests, history, id, rid }: Own & { id: string; rid: string }): JSX.Element {
  const { query, setQuery } = useQuery();
  const list = useResource<EnvironmentPage>(`${repositoryPath(rid)}/environments?limit=200&state=built&type=branch`);
  const branches = comparable(list.data.value?.items ?? [], id);
  const named = branches.find((one) => one.id === query['with']);
  const base = query['with'] === 'none' ? undefined : (named ?? usualBase(branches));
  return (
    <>
      {branches.length > 0 && (
        <label class="row">
          <span class="muted">Compare with</span>
          <select onInput={(event) => setQuery({ with: event.currentTarget.value })}>
            <option value="none" selected={!base}>
              nothing
            </option>
            {branches.map((one) => (
              <option key={one.id} value={one.id} selected={one.id === base?.id}>
                {visibleText(one.gitRef.name)}
              </option>
            ))}
          </select>
        </label>
      )}
      {base ? (
        <WithBase key={base.id} tests={tests} history={history} base={base} />
      ) : (
        tests.map((test) => <TestCard key={test.name} test={test} history={history} />)
      )}
    </>
  );
}

function WithBase({ tests, history, base }: Own & { base: EnvironmentItem }): JSX.Element {
  const resource = useResource<TestsView>(`${environmentPath(base.id)}/tests`);
  const ofBase = resource.data.value?.tests ?? [];
  const name = visibleText(base.gitRef.name);
  return (
    <>
      {tests.map((test) => (
        <TestCard
          key={test.name}
          test={test}
          history={history}
          base={{ name, test: ofBase.find((one) => one.name === test.name && one.type === test.type) }}
        />
      ))}
    </>
  );
}

interface Base {
  name: string;
  test: Test | undefined;
}

function TestCard({ test, history, base }: { test: Test; history: History; base?: Base }): JSX.Element {
  const { state, icon } = outcomes[test.outcome] ?? { state: 'created', icon: 'ring' };
  const items = test.result ?? [];
  const baseItem = (label: string) => base?.test?.result?.find(({ Label }) => Label === label);
  const texts = items.filter(
    ({ Type, Label }) => Type !== 'image' && Type !== 'blob' && Label !== 'summary' && Label !== 'passed',
  );
  const images = items.filter(isImage);
  const note = test.summary ?? test.message;
  return (
    <section class={`card state-${state}`}>
      <div class="card-head">
        <h3 class="row test-name">
          <Icon name={icon} /> <span class="isolate">{test.name}</span> <span class="muted">{test.type}</span>
        </h3>
        <span class="row">
          <span>{test.outcome}</span>
          {test.finishedAt !== undefined && (
            <span class="muted">
              <Ago at={Date.parse(test.finishedAt) / 1000} />
            </span>
          )}
        </span>
      </div>
      {(note !== undefined || items.length > 0) && (
        <div class="card-body stack-small">
          {note !== undefined && <p class="isolate">{note}</p>}
          {texts.length > 0 && (
            <dl class="test-items">
              {texts.map((item) => (
                <TestText key={item.Label} item={item} base={base} baseItem={baseItem(item.Label)} />
              ))}
            </dl>
          )}
          <TestPlots name={test.name} history={history} />
          {images.map(({ Label, Content }) => {
            const before = baseItem(Label);
            return (
              <div key={Label} class="test-images">
                {base && before && isImage(before) && (
                  <figure>
                    <figcaption class="muted isolate">
                      {Label} of {base.name}
                    </figcaption>
                    <Base64Image content={before.Content} label={`${test.name}: ${Label} of ${base.name}`} />
                  </figure>
                )}
                <figure>
                  <figcaption class="muted isolate">{before ? `${Label} of this environment` : Label}</figcaption>
                  <Base64Image content={Content} label={`${test.name}: ${Label}`} />
                </figure>
              </div>
            );
          })}
        </div>
      )}
    </section>
  );
}

function TestText({
  item,
  base,
  baseItem,
}: {
  item: Item;
  base: Base | undefined;
  baseItem: Item | undefined;
}): JSX.Element {
  const text = decodeText(item.Content);
  const before = baseItem && decodeText(baseItem.Content);
  const difference = item.Type === 'number' ? differenceText(text, before) : undefined;
  return (
    <div>
      <dt class="muted">{item.Label}</dt>
      <dd class="isolate">
        {text}
        {base && difference !== undefined && (
          <span class="muted" title={`${base.name}: ${before ?? ''}`}>
            {' '}
            {difference}
          </span>
        )}
      </dd>
    </div>
  );
}

function isImage({ Type }: Item): boolean {
  return Type === 'image';
}
