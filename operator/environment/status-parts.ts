import type { Condition } from '../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../crds/environment.ts';
import { TESTED } from '../../crds/environment-tests.ts';
import { FIELD_MANAGERS } from '../../crds/labels.ts';
import type { StatusPart } from '../status-writer.ts';

/** The condition that tells whether the Git host knows how the environment's build went. */
export const REPORTED = 'Reported';

const isReported = ({ type }: Condition) => type === REPORTED;
const isTested = ({ type }: Condition) => type === TESTED;

/** What tells the Git host (operator/feedback) writes this of an Environment's status, and nothing else does. */
export const feedbackPart: StatusPart<Environment> = {
  fieldManager: FIELD_MANAGERS.feedback,
  of: ({ feedback, conditions = [] }) => pick({ feedback }, conditions.filter(isReported)),
};

/** What measures volumes (operator/sizes) writes this alone. */
export const volumesPart: StatusPart<Environment> = {
  fieldManager: FIELD_MANAGERS.volumes,
  of: ({ volumes }) => ({ volumes }),
};

/** What has tests run (operator/tests) writes this. */
export const testsPart: StatusPart<Environment> = {
  fieldManager: FIELD_MANAGERS.tests,
  of: ({ tests, conditions = [] }) => pick({ tests }, conditions.filter(isTested)),
};

/** The rest, of the Environment's own reconciler. */
export const ownPart: StatusPart<Environment> = {
  fieldManager: FIELD_MANAGERS.operator,
  of: ({ conditions = [], ...rest }) => {
    const own = conditions.filter((condition) => !isReported(condition) && !isTested(condition));
    return pick({ ...rest, feedback: undefined, volumes: undefined, tests: undefined }, own);
  },
};

function pick(fields: EnvironmentStatus, conditions: Condition[]): EnvironmentStatus {
  return { ...fields, ...(conditions.length > 0 && { conditions }) };
}
