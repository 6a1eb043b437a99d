import type { Condition } from '../../../../crds/conditions.ts';
import type { Environment, EnvironmentStatus } from '../../../../crds/environment.ts';
import { TESTED } from '../../../../crds/environment-tests.ts';
import { FIELD_MANAGERS } from '../../../../crds/labels.ts';
import type { StatusPart } from '../../../shared/status-writer.ts';

/** Condition that reports whether the Git host has received the build's result. */
export const REPORTED = 'Reported';

const isReported = ({ type }: Condition) => type === REPORTED;
const isTested = ({ type }: Condition) => type === TESTED;

/** Part of an Environment's status that only the feedback controller (operator/reports/feedback) writes. */
export const feedbackPart: StatusPart<Environment> = {
  fieldManager: FIELD_MANAGERS.feedback,
  of: ({ feedback, conditions = [] }) => pick({ feedback }, conditions.filter(isReported)),
};

/** Part that only the size controller (operator/reports/volume-sizes) writes. */
export const volumesPart: StatusPart<Environment> = {
  fieldManager: FIELD_MANAGERS.volumes,
  of: ({ volumes }) => ({ volumes }),
};

/** Part that only the test controller (operator/reports/environment-tests) writes. */
export const testsPart: StatusPart<Environment> = {
  fieldManager: FIELD_MANAGERS.tests,
  of: ({ tests, conditions = [] }) => pick({ tests }, conditions.filter(isTested)),
};

/** The remaining part, written by the Environment's own reconciler. */
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
