import type { JSX } from 'preact';
import type { EnvironmentView } from '../../api/types.ts';
import type { RepositoryView } from '../../api/types.ts';
import { environmentPage, repositoryPage, repositoryPath } from '../../api/paths.ts';
import { Copy } from '../../components/copy.tsx';
import { Star } from '../../components/environment-row.tsx';
import { Icon } from '../../components/icons.tsx';
import { StateBadge } from '../../components/state-badge.tsx';
import { Ago } from '../../components/times.tsx';
import { useResource } from '../../state/resource.ts';
import { byteText } from '../../view/bytes.ts';
import { commitUrl } from '../../view/commit-url.ts';
import { shownState } from '../../view/shown-state.ts';
import { Actions } from './actions.tsx';
import { visibleText } from '../../view/visible-text.ts';
import { shortCommit } from '../../view/short-commit.ts';

/** Who can open an environment that is not public. */
const ACCESS_WORDS = { password: 'password', members: 'members only' } as const;

/** The first line of the page: the environment's name, state and address. */
export function Head({ environment }: { environment: EnvironmentView }): JSX.Element {
  const { id, gitRef, rid, name, weburl, status, createdAt, builtAt, expiresAt, size, build, deployedBuild } =
    environment;
  const isRunning = status === 'built' || environment.services.some(({ ready }) => ready);
  const isOpenable = weburl !== undefined && environment.removing !== true && isRunning;
  const runsFormer = build?.result === 'failed' && deployedBuild !== undefined;
  return (
    <div class="environment-head">
      <div class="spread">
        <div class="row environment-title">
          <Icon name={gitRef.type} />
          <h1 class="isolate">{gitRef.type === 'pull request' ? `#${gitRef.name}` : visibleText(gitRef.name)}</h1>
          <span class="row">
            <StateBadge state={shownState(environment)} />
            <Star id={id} name={name} />
          </span>
        </div>
        <div class="row">
          <Actions environment={environment} />
          {isOpenable && (
            <a class="button primary" href={weburl} target="_blank" rel="noopener noreferrer">
              Open <Icon name="external" />
            </a>
          )}
        </div>
      </div>
      <p class="facts muted">
        <span>
          {gitRef.type} of <a href={repositoryPage(rid)}>{rid}</a>
        </span>
        {!id.endsWith(`.${name}`) && <span class="isolate">{visibleText(name)}</span>}
        {environment.commit !== undefined && (
          <span class="row">
            {runsFormer && <span>runs build {deployedBuild} of</span>}
            <Commit rid={rid} commit={environment.commit} />
          </span>
        )}
        {builtAt > 0 ? (
          <span>
            last build ended <Ago at={builtAt} />
          </span>
        ) : (
          <span>
            created <Ago at={createdAt} />
          </span>
        )}
        {expiresAt !== undefined && (
          <span>
            contents deleted <Ago at={expiresAt} />
          </span>
        )}
        {environment.nextRebuildAt !== undefined && (
          <span>
            rebuilt <Ago at={environment.nextRebuildAt} />
          </span>
        )}
        {size > 0 && <span class="figures">images and volumes: {byteText(size)}</span>}
        {environment.fromFork === true && <span>from a fork</span>}
        {environment.conditions.some(({ type, status: value }) => type === 'Overridden' && value === 'True') && (
          <a href={`${environmentPage(id, 'settings')}#overrides`}>overrides the repository</a>
        )}
      </p>
      <Included repositories={environment.repositories} />
      {isOpenable && (
        <p class="row address">
          <a href={weburl} target="_blank" rel="noopener noreferrer" class="one-line">
            {weburl}
          </a>
          <Copy text={weburl} label="Copy the address" />
          {environment.access !== 'public' && (
            <a
              class="access-mode"
              href={`${environmentPage(id, 'settings')}#access`}
              title="Change or share the access"
            >
              <Icon name="lock" /> {ACCESS_WORDS[environment.access]}
            </a>
          )}
        </p>
      )}
      {Object.entries(environment.aliases).length > 0 && (
        <ul class="facts">
          {Object.entries(environment.aliases).map(([alias, address]) => (
            <li key={alias}>
              <span class="muted isolate">{visibleText(alias)}</span>{' '}
              <a href={address} target="_blank" rel="noopener noreferrer">
                {address}
              </a>
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}

/** The other repositories whose services the environment includes, with what each came from. */
function Included({ repositories }: Pick<EnvironmentView, 'repositories'>): JSX.Element | null {
  if (repositories === undefined) return null;
  return (
    <ul class="facts" aria-label="Included repositories">
      {repositories.map(({ id, branch, commit, branches = [] }) => (
        <li key={id} class="row">
          <span class="muted">with</span>
          <a href={repositoryPage(id)}>{id}</a>
          {branch === undefined ? (
            <span class="muted isolate">
              {branches.length === 0 ? 'not included' : `no branch ${visibleText(branches.join(' or '))}`}
            </span>
          ) : (
            <span class="isolate">{visibleText(branch)}</span>
          )}
          {commit !== undefined && <Commit rid={id} commit={commit} />}
        </li>
      ))}
    </ul>
  );
}

function Commit({ rid, commit }: { rid: string; commit: string }): JSX.Element {
  const repository = useResource<RepositoryView>(`${repositoryPath(rid)}?environments=false`).data.value;
  const url = repository && commitUrl(repository, commit);
  const short = <code>{commit.slice(0, shortCommit)}</code>;
  return (
    <span class="commit">
      {url === undefined ? (
        short
      ) : (
        <a href={url} target="_blank" rel="noopener noreferrer">
          {short}
        </a>
      )}
      <Copy text={commit} label="Copy the commit" />
    </span>
  );
}
