import { PatternSet } from '../../../../pattern-search/pattern-set.ts';
import { slug } from '../../../../crds/names.ts';
import type { Service } from '../../../../service-file/schema.ts';
import { Stalled } from '../../../shared/errors.ts';
import { keyedHash } from '../../../shared/hash-key.ts';
import { isShellName, type HiddenValues } from '../../../services/objects/hidden-values.ts';

export interface HiddenSecrets {
  /** The services, without the labels that contain a secret: they become annotations. */
  services: Service[];
  /** By service. */
  hidden: Record<string, HiddenValues>;
  warnings: string[];
}

/**
 * Finds the texts of services that contain one of the secrets, which pods take from a Secret: values of variables, and
 * words of commands and health checks. Prefers to hide too much: a hidden text is only harder to read.
 */
export function hideSecrets(
  services: readonly Service[],
  secrets: readonly string[],
  hashKey: Uint8Array,
): HiddenSecrets {
  // Longer secrets, such as files, can be in no text of a service.
  const maxLength = Buffer.byteLength(JSON.stringify(services));
  const isSecret = secretFinder(secrets.map(essence).filter(({ length }) => length > 0 && length <= maxLength));
  const hidden: HiddenSecrets['hidden'] = {};
  const warnings: string[] = [];
  const shown = services.map((service) => {
    const variables = hiddenVariables(service, isSecret);
    if (Object.keys(variables).length > 0) {
      const hash = keyedHash(hashKey, [service.name, variables]).slice(0, 20);
      hidden[service.name] = { secret: `values-${slug(service.name).slice(0, 30)}-${hash}`, variables };
    }
    const labels = Object.entries(service.labels);
    const kept = labels.filter(([key, value]) => !isSecret(key) && !isSecret(value));
    if (kept.length === labels.length) return service;
    warnings.push(`services.${service.name}.labels: those that contain a secret are left out`);
    return { ...service, labels: Object.fromEntries(kept) };
  });
  return { services: shown, hidden, warnings };
}

/** Commands have few words. Each hidden one is a variable of the container. */
const maxWords = 200;

function hiddenVariables(service: Service, isSecret: (text: string) => boolean): Record<string, string> {
  const { name, environment, entrypoint = [], command = [], healthcheck } = service;
  const values = Object.entries(environment).filter(([, value]) => isSecret(value));
  const known = new Set(values.filter(([variable]) => isShellName(variable)).map(([, value]) => value));
  const all = [entrypoint, command, healthcheck?.command ?? []].flatMap((words) => secretWords(words, isSecret));
  const words = [...new Set(all)].filter((word) => !known.has(word));
  if (words.length > maxWords) {
    const message = `services.${name}: its commands have more than ${maxWords} words that contain a secret. Use a shorter command, or a variable`;
    throw new Stalled('ServiceFileInvalid', message);
  }
  const names = Array.from({ length: words.length + Object.keys(environment).length }, (_, index) => index + 1)
    .map((number) => `COPPICE_SECRET_${number}`)
    .filter((one) => !Object.hasOwn(environment, one));
  return Object.fromEntries([...values, ...words.map((word, index) => [names[index] ?? '', word] as const)]);
}

/** If a secret is spread over several words, as a line that was split at its spaces, all of them are hidden. */
function secretWords(words: readonly string[], isSecret: (text: string) => boolean): string[] {
  const found = words.filter(isSecret);
  const others = words.filter((word) => !isSecret(word));
  return isSecret(others.join('')) ? words.filter((word) => word !== '') : found;
}

/**
 * Returns a function that reports whether a text contains one of these essences of secrets. String.includes() would
 * compare each of them with each text, and secrets can be chosen so that it compares all characters of both.
 */
function secretFinder(essences: readonly string[]): (text: string) => boolean {
  const patterns = new PatternSet(new Set(essences));
  if (patterns.isEmpty) return () => false;
  return (text) => {
    const searched = essence(text);
    let state = 0;
    for (let index = 0; index < searched.length; index++) {
      state = patterns.next(state, searched.charCodeAt(index));
      if (patterns.endingIn(state) > 0) return true;
    }
    return false;
  };
}

/**
 * Returns the text, with a character for each byte, without spaces, quotes and backslashes: splitting a line into words
 * changes them.
 */
function essence(text: string): string {
  return Buffer.from(text.replaceAll(/[\s'"\\]/g, '')).toString('latin1');
}
