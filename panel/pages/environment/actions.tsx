import type { JSX } from 'preact';
import { useLocation } from 'preact-iso/router';
import { send, type Method } from '../../api/client.ts';
import { sentenceOf } from '../../api/errors.ts';
import type { EnvironmentView } from '../../api/types.ts';
import { environmentPath, readEnvironmentPath, repositoryPage } from '../../api/paths.ts';
import { Confirm } from '../../components/confirm.tsx';
import { Icon } from '../../components/icons.tsx';
import { Menu, MenuButton } from '../../components/menu.tsx';
import { useAction } from '../../state/action.ts';
import { notify } from '../../state/notices.ts';
import { useQuery } from '../../state/page.ts';
import { resourceOf } from '../../state/resource.ts';
import { byteText } from '../../view/bytes.ts';
import { Ttl } from './ttl.tsx';

/** The actions on an environment: the most frequent one has a button, the others are in a menu. */
export function Actions({ environment }: { environment: EnvironmentView }): JSX.Element {
  const { id, status } = environment;
  const { query, setQuery } = useQuery();
  const { route } = useLocation();
  const write = async (method: Method, path: string, done: string) => {
    const changed = await send<EnvironmentView>(method, `${environmentPath(id)}${path}`);
    resourceOf<EnvironmentView>(readEnvironmentPath(id)).invalidate();
    notify(done);
    return changed;
  };
  const build = useAction(async () => void (await write('POST', '/build', 'Build requested.')));
  const create = useAction(async () => void (await write('PUT', '', 'Contents requested.')));
  const isEmpty = status === 'empty';
  const close = () => setQuery({ dialog: undefined });
  const sleep = useAction(async () => void (await write('POST', '/sleep', 'Sleep requested.')));
  const wake = useAction(async () => void (await write('POST', '/wake', 'Wake requested.')));
  const isAsleep = environment.asleep === true;
  const failed = [build, create, sleep, wake].map(({ error }) => error.value).find((error) => error !== undefined);
  // New contents can be requested when the old ones are gone.
  if (environment.removing === true) return <></>;
  const main = isEmpty ? create : isAsleep ? wake : build;
  return (
    <>
      {failed && (
        <span class="fault" role="alert">
          {sentenceOf(failed)}
        </span>
      )}
      <button type="button" disabled={main.isPending.value} onClick={main.run}>
        <Icon name="play" /> {isEmpty ? 'Create' : isAsleep ? 'Wake' : 'Build'}
      </button>
      <Menu label="More actions" buttonClass="icon-button bordered" button={<Icon name="more" />}>
        {isAsleep && <MenuButton onClick={build.run}>Build</MenuButton>}
        {status === 'built' && !isAsleep && <MenuButton onClick={sleep.run}>Sleep until it is woken</MenuButton>}
        <MenuButton onClick={() => setQuery({ dialog: 'ttl' })}>Set the time to live</MenuButton>
        <MenuButton onClick={() => setQuery({ dialog: 'rebuild' })} isDestructive>
          Rebuild without cache
        </MenuButton>
        {!isEmpty && (
          <MenuButton onClick={() => setQuery({ dialog: 'delete' })} isDestructive>
            Delete contents
          </MenuButton>
        )}
        {isEmpty && (
          <MenuButton onClick={() => setQuery({ dialog: 'delete' })} isDestructive>
            Delete the environment
          </MenuButton>
        )}
      </Menu>
      {query['dialog'] === 'ttl' && <Ttl environment={environment} onClose={close} />}
      {query['dialog'] === 'rebuild' && (
        <Confirm
          title="Rebuild without cache"
          verb="Rebuild"
          act={async () => void (await write('POST', '/rebuild', 'Rebuild requested.'))}
          onClose={close}
        >
          <p>
            Deletes everything deployed and stored for <b class="isolate">{environment.name}</b>
            {sizeText(environment)}, including its volumes if it has some, then creates it again and builds it without
            cache.
          </p>
        </Confirm>
      )}
      {query['dialog'] === 'delete' && (
        <Confirm
          title={isEmpty ? 'Delete the environment' : 'Delete contents'}
          verb={isEmpty ? 'Delete' : 'Delete contents'}
          act={async () => {
            await write('DELETE', '', 'Deletion requested.');
          }}
          onDone={isEmpty ? () => route(repositoryPage(environment.rid)) : close}
          onClose={close}
        >
          {isEmpty ? (
            <p>
              Deletes the empty environment <b class="isolate">{environment.name}</b>. If its ref has no other one, it
              stays, because a sync would create it again.
            </p>
          ) : (
            <>
              <p>
                Deletes {serviceText(environment)} of <b class="isolate">{environment.name}</b> with everything stored
                in volumes{sizeText(environment)}. The empty environment keeps its address and settings, and Create
                fills it again.
              </p>
              <p class="muted">
                The environment itself is deleted with its {environment.gitRef.type}, or at once if another environment
                has the same one.
              </p>
            </>
          )}
        </Confirm>
      )}
    </>
  );
}

function sizeText({ size }: EnvironmentView): string {
  return size > 0 ? ` (images and volumes: ${byteText(size)})` : '';
}

function serviceText({ services }: EnvironmentView): string {
  if (services.length === 0) return 'the contents';
  return services.length === 1 ? '1 service' : `${services.length} services`;
}
