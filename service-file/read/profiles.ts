import type { YamlEntry } from '../yaml/yaml-node.ts';
import type { ReadContext } from './context.ts';
import { isEmpty, readTextList } from './read.ts';

/** The variable that names the enabled profiles, with commas between them; `*` are all. */
const VARIABLE = 'COMPOSE_PROFILES';

/**
 * The services that run: those without profiles, and those of which one is enabled. The others are left out unread, as
 * Compose does, so that a tool for a developer's machine is in nobody's way.
 */
export function enabledServices(services: readonly YamlEntry[], context: ReadContext): YamlEntry[] {
  const { variables, problems } = context;
  const text = variables.get(VARIABLE)?.value ?? '';
  const enabled = new Set(text.split(',').map((profile) => profile.trim()));
  return services.filter(({ value }) => {
    const entry = value.kind === 'map' ? value.entries.find(({ key }) => key === 'profiles') : undefined;
    if (entry === undefined || isEmpty(entry.value)) return true;
    const profiles = readTextList(entry.value, problems) ?? [];
    if (profiles.length === 0 || enabled.has('*') || profiles.some((profile) => enabled.has(profile))) return true;
    problems.warn(entry.at, `left out: the variable ${VARIABLE} enables none of its profiles`);
    return false;
  });
}
