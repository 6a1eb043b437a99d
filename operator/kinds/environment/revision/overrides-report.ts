import type { ConditionReport } from '../../../../crds/conditions.ts';
import type { OverridesSpec } from '../../../../crds/environment.ts';
import { isReservedName, RESERVED_NAME } from '../../../../service-file/own-variables.ts';

const maxNames = 2000;

/**
 * Returns the condition `Overridden` of an environment with overrides; undefined without. Code that is not trusted gets
 * none: members write secrets into overrides as into variables of the repository.
 */
export function overridesReport(
  overrides: OverridesSpec | undefined,
  { isTrusted }: { isTrusted: boolean },
): ConditionReport | undefined {
  const names = (overrides?.variables ?? []).map(({ name }) => name).sort();
  const used = names.filter((name) => !isReservedName(name));
  const reserved = names.filter(isReservedName);
  if (names.length === 0 && !overrides?.serviceFile) return undefined;
  if (!isTrusted) {
    const message =
      'the overrides have no effect, because the code of the pull request is not trusted. Delete them, or set trustForks on the Repository';
    return reported('False', 'NotTrusted', message);
  }
  if (reserved.length > 0) {
    const ignored = `${listed(reserved)}: ignored, because ${RESERVED_NAME}. Rename or delete them`;
    return reported(used.length > 0 || overrides?.serviceFile ? 'True' : 'False', 'ReservedName', ignored);
  }
  const parts = [
    ...(used.length > 0 ? [`the variables ${listed(used)}`] : []),
    ...(overrides?.serviceFile ? ['the service file'] : []),
  ];
  return reported('True', 'Overridden', `builds of this environment override ${parts.join(' and ')}`);
}

function listed(names: readonly string[]): string {
  return names.join(', ').slice(0, maxNames);
}

function reported(status: ConditionReport['status'], reason: string, message: string): ConditionReport {
  return { type: 'Overridden', status, reason, message };
}
