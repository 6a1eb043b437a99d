import type { EnvironmentView, ListedEnvironment } from './types.ts';

/** Returns an environment in the form of lists and the change stream. */
export function listedOf(view: EnvironmentView): ListedEnvironment {
  const { id, rid, gid, version, name, gitRef, status, health, problem, weburl, commit, build, createdAt, builtAt } =
    view;
  const { services, expiresAt, asleep, removing, deployedBuild } = view;
  return {
    ...{ id, rid, gid, version, name, gitRef, status, health, createdAt, builtAt },
    ...(problem && { problem }),
    ...(asleep && { asleep }),
    ...(removing && { removing }),
    ...(deployedBuild !== undefined && { deployedBuild }),
    ...(weburl !== undefined && { weburl }),
    ...(commit !== undefined && { commit }),
    ...(build && { build }),
    services: {
      ready: services.filter(({ ready }) => ready).length,
      total: services.length,
      restarts: services.reduce((sum, { restarts }) => sum + restarts, 0),
    },
    ...(expiresAt !== undefined && { expiresAt }),
  };
}
