import type { YamlEntry } from '../yaml/yaml-node.ts';
import type { ReadContext } from './context.ts';
import { isEmpty, readTextList } from './read.ts';

/** The variable with the enabled profiles, separated by commas; `*` enables all. */
const variable = 'COMPOSE_PROFILES';

/**
 * Returns the services that run: those without profiles, and those with an enabled one. The others are skipped without
 * being read, as in Compose, so that development tools cause no errors.
 */
export function enabledServices(services: readonly YamlEntry[], context: ReadContext): YamlEntry[] {
  const { variables, problems } = context;
  const text = variables.get(variable)?.value ?? '';
  const enabled = new Set(text.split(',').map((profile) => profile.trim()));
  return services.filter(({ value }) => {
    const entry = value.kind === 'map' ? value.entries.find(({ key }) => key === 'profiles') : undefined;
    if (entry === undefined || isEmpty(entry.value)) return true;
    const profiles = readTextList(entry.value, problems) ?? [];
    if (profiles.length === 0 || enabled.has('*') || profiles.some((profile) => enabled.has(profile))) return true;
    problems.warn(entry.at, `left out: the variable ${variable} enables none of its profiles`);
    return false;
  });
}
