/** How a service file is included by that of another repository. */
export interface IncludedAs {
  /** Whether the including file gives its public routes an alias. */
  hasAlias: boolean;
}

/** What a service file must know of the services of the repositories that it includes. */
export interface IncludedServices {
  /** By the name of the service. */
  services: ReadonlyMap<string, { hasHealthcheck: boolean; runsOnce: boolean }>;
  /** Aliases of their public routes. */
  aliases: ReadonlySet<string>;
}

/** Services of other files that services of the file can depend on. */
export interface OtherServices extends IncludedServices {
  /** Whether there can be services that are not listed. */
  areUnknown: boolean;
}

export const NO_OTHER_SERVICES: OtherServices = { services: new Map(), aliases: new Set(), areUnknown: false };
export const UNKNOWN_SERVICES: OtherServices = { ...NO_OTHER_SERVICES, areUnknown: true };
