import { slug } from '../../../../crds/names.ts';
import type { Service } from '../../../../service-file/schema.ts';
import { keyedHash } from '../../../shared/hash-key.ts';
import { variableOf, type HiddenValues } from '../../../services/objects/hidden-values.ts';

export interface HiddenSecrets {
  /** The services, without the labels that contain a secret: they become annotations. */
  services: Service[];
  /** By service. */
  hidden: Record<string, HiddenValues>;
  warnings: string[];
}

/**
 * Finds the texts of services that contain one of the secrets, which pods take from a Secret: values of variables, and
 * words of commands and health checks. Rather too many than too few: what is hidden is only harder to read.
 */
export function hideSecrets(
  services: readonly Service[],
  secrets: readonly string[],
  hashKey: Uint8Array,
): HiddenSecrets {
  const isSecret = secretFinder(secrets);
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

function hiddenVariables(service: Service, isSecret: (text: string) => boolean): Record<string, string> {
  const { environment, entrypoint = [], command = [], healthcheck } = service;
  const variables = Object.fromEntries(Object.entries(environment).filter(([, value]) => isSecret(value)));
  const words = [entrypoint, command, healthcheck?.command ?? []].flatMap((all) => secretWords(all, isSecret));
  for (const word of words) {
    if (variableOf(word, { variables }) === undefined) variables[freeName({ ...environment, ...variables })] = word;
  }
  return variables;
}

/** If a secret is spread over several words, as a line that was split at its spaces, all of them are hidden. */
function secretWords(words: readonly string[], isSecret: (text: string) => boolean): string[] {
  const found = words.filter(isSecret);
  const others = words.filter((word) => !found.includes(word));
  return isSecret(others.join('')) ? words.filter((word) => word !== '') : found;
}

function freeName(taken: Readonly<Record<string, string>>): string {
  for (let number = 1; ; number += 1) {
    const name = `COPPICE_SECRET_${number}`;
    if (!Object.hasOwn(taken, name)) return name;
  }
}

/** Spaces, quotes and backslashes are not compared: splitting a line into words changes them. */
function secretFinder(secrets: readonly string[]): (text: string) => boolean {
  const essences = [...new Set(secrets.map(essence))].filter((text) => text !== '');
  return (text) => {
    const searched = essence(text);
    return essences.some((secret) => searched.includes(secret));
  };
}

function essence(text: string): string {
  return text.replaceAll(/[\s'"\\]/g, '');
}
