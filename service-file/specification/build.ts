import { z } from 'zod';
import { amount, flag, hosts, integer, list, map, mapOf, text, textOrTexts, texts, variables } from './values.ts';

/** The configs or secrets granted to a service or build. */
export const grants = list(
  z.union([text, map('what is given', { gid: text, mode: amount, source: text, target: text, uid: text })]),
);

export const ulimits = mapOf(z.union([integer, map('a limit', { hard: integer, soft: integer })]));

/** Schema of `build`, by the Compose Specification. */
export const build = z.union([
  text,
  map('build', {
    additional_contexts: variables,
    args: variables,
    cache_from: texts,
    cache_to: texts,
    context: text,
    dockerfile: text,
    dockerfile_inline: text,
    entitlements: texts,
    extra_hosts: hosts,
    isolation: text,
    labels: variables,
    network: text,
    no_cache: flag,
    no_cache_filter: textOrTexts,
    platforms: texts,
    privileged: flag,
    provenance: text,
    pull: flag,
    sbom: text,
    secrets: grants,
    shm_size: amount,
    ssh: z.union([text, variables]),
    tags: texts,
    target: text,
    ulimits,
  }),
]);
