import type { Environment, EnvironmentState } from '../../crds/environment.ts';
import { formatId, idOf } from '../../crds/ids.ts';
import { isAsleep } from '../environments/contents.ts';
import { environmentHealth } from '../environments/environment-health.ts';
import { environmentCommit, environmentDisplayName } from '../environments/environment-view.ts';
import { shownStatus } from '../environments/shown-status.ts';
import type { Health } from '../http/health-view.ts';

/** What lists filter and sort by. */
export interface EnvironmentSummary {
  id: string;
  status: EnvironmentState;
  health: Health;
  isAsleep: boolean;
  /** In lower case: what a search finds. */
  text: string;
  ref: string;
  createdAt: number;
  /** When the last build started or finished; 0 before the first. */
  builtAt: number;
}

/** By object: caches replace objects, and never change them. */
const known = new WeakMap<Environment, EnvironmentSummary>();

/** Returns the summary of an environment; computed once for each state of the object. */
export function summaryOf(environment: Environment): EnvironmentSummary {
  const found = known.get(environment);
  if (found) return found;
  const made = summarize(environment);
  known.set(environment, made);
  return made;
}

function summarize(environment: Environment): EnvironmentSummary {
  const { metadata, spec, status } = environment;
  const id = formatId(idOf(environment));
  const ref = spec.gitRef.name.toLowerCase();
  const words = [ref, environmentDisplayName(environment).toLowerCase(), id, environmentCommit(environment) ?? ''];
  return {
    id,
    status: shownStatus(environment),
    health: environmentHealth(environment).health,
    isAsleep: isAsleep(environment),
    // A text that is found contains no line break, so it is found within one of the words.
    text: words.join('\n'),
    ref,
    createdAt: Date.parse(metadata.creationTimestamp ?? '') || 0,
    builtAt: Date.parse(status?.build?.finishedAt ?? status?.build?.startedAt ?? '') || 0,
  };
}
