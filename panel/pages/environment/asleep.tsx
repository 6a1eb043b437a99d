import type { JSX } from 'preact';
import { repositoryPath } from '../../api/paths.ts';
import type { EnvironmentView, RepositorySettingsView } from '../../api/types.ts';
import { Icon } from '../../components/icons.tsx';
import { Lasting } from '../../components/times.tsx';
import { useResource } from '../../state/resource.ts';
import { asleepText } from '../../view/sleep-text.ts';

/** Why the environment sleeps, since when, and what wakes it. An environment that is awake has no such note. */
export function Asleep({ environment }: { environment: EnvironmentView }): JSX.Element | null {
  return environment.asleep === true ? <Sleeping environment={environment} /> : null;
}

function Sleeping({
  environment: { rid, sleep, settings, conditions },
}: {
  environment: EnvironmentView;
}): JSX.Element {
  const ofRepository = useResource<RepositorySettingsView>(`${repositoryPath(rid)}/settings`).data.value;
  const wakeOn = settings.sleep.wakeOn ?? ofRepository?.sleep.wakeOn;
  const isDecided = conditions.some(({ type, status }) => type === 'Asleep' && status === 'True');
  return (
    <div class="note state-asleep" role="status">
      <Icon name="moon" />
      <p>
        Asleep
        {isDecided && sleep && (
          <>
            {' '}
            for <Lasting at={sleep.since} />
          </>
        )}
        . {asleepText(isDecided ? sleep?.reason : undefined, wakeOn)}
      </p>
    </div>
  );
}
