import type { JSX } from 'preact';
import { send } from '../../api/client.ts';
import { environmentPath } from '../../api/paths.ts';
import type { TestsView } from '../../api/types.ts';
import { Base64Image } from '../../components/base64-image.tsx';
import { Empty, ErrorNote, LoadError, Skeleton } from '../../components/error-note.tsx';
import { Icon, type IconName } from '../../components/icons.tsx';
import { Ago } from '../../components/times.tsx';
import { useAction } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';
import { useResource } from '../../state/resource.ts';
import { decodeText } from '../../view/base64.ts';
import type { ShownState } from '../../view/shown-state.ts';

type Test = TestsView['tests'][number];
type Item = NonNullable<Test['result']>[number];

const outcomes: Partial<Record<Test['outcome'], { state: ShownState; icon: IconName }>> = {
  passed: { state: 'built', icon: 'check' },
  failed: { state: 'failed', icon: 'cross' },
  error: { state: 'degraded', icon: 'warning' },
  running: { state: 'building', icon: 'progress' },
};

/** The results of the tests that the service file names. */
export function Tests({ id }: { id: string }): JSX.Element {
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
  if (found.tests.length === 0) {
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
        <p class="muted">
          {[found.build !== undefined && `Build ${found.build}`, found.tested?.message]
            .filter((text) => text !== undefined && text !== false && text !== '')
            .join(': ')}
        </p>
        <button type="button" disabled={run.isPending.value} onClick={run.run}>
          <Icon name="play" /> Run again
        </button>
      </div>
      <ErrorNote error={run.error.value} />
      {found.tests.map((test) => (
        <TestCard key={test.name} test={test} />
      ))}
    </div>
  );
}

function TestCard({ test }: { test: Test }): JSX.Element {
  const { state, icon } = outcomes[test.outcome] ?? { state: 'created', icon: 'ring' };
  const items = test.result ?? [];
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
      <div class="card-body stack-small">
        {(test.summary ?? test.message) !== undefined && <p class="isolate">{test.summary ?? test.message}</p>}
        <dl class="test-items">
          {items
            .filter(
              ({ Type, Label }) => Type !== 'image' && Type !== 'blob' && Label !== 'summary' && Label !== 'passed',
            )
            .map((item) => (
              <div key={item.Label}>
                <dt class="muted">{item.Label}</dt>
                <dd class="isolate">{decodeText(item.Content)}</dd>
              </div>
            ))}
        </dl>
        <div class="test-images">
          {items.filter(isImage).map(({ Label, Content }) => (
            <figure key={Label}>
              <Base64Image content={Content} label={`${test.name}: ${Label}`} />
              <figcaption class="muted">{Label}</figcaption>
            </figure>
          ))}
        </div>
      </div>
    </section>
  );
}

function isImage({ Type }: Item): boolean {
  return Type === 'image';
}
