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
  const essences = [...new Set(secrets.map(essence))].filter((text) => text !== '');
  const hidden: HiddenSecrets['hidden'] = {};
  const warnings: string[] = [];
  const shown = services.map((service) => {
    const isSecret = secretFinder(essences, service);
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
 * Returns a function that reports whether a text of the service contains a secret. It ignores spaces, quotes and
 * backslashes, because splitting a line into words changes them.
 */
function secretFinder(essences: readonly string[], service: Service): (text: string) => boolean {
  const { environment, entrypoint = [], command = [], healthcheck, labels } = service;
  const texts = [environment, labels].flatMap((one) => Object.entries(one).flat());
  const whole = essence([...texts, ...entrypoint, ...command, ...(healthcheck?.command ?? [])].join(''));
  // Usually no secret is present. One search of the whole text avoids comparing each of many words with each secret.
  const present = essences.filter((secret) => whole.includes(secret));
  if (present.length === 0) return () => false;
  return (text) => {
    const searched = essence(text);
    return present.some((secret) => searched.includes(secret));
  };
}

function essence(text: string): string {
  return text.replaceAll(/[\s'"\\]/g, '');
}
