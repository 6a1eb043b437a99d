import type { FenceSettings } from './fence.ts';

/** What an administrator decides for all environments. */
export interface EnvironmentSettings {
  /** Environments answer at `<label>.<domain>`. */
  domain: string;
  scheme: 'http' | 'https';
  /** In web addresses, where it is not the scheme's own. */
  port: number | undefined;
  ingressClassName: string | undefined;
  registry: string;
  /** Whether pods need the registry's credentials to pull. */
  pullSecret: boolean;
  rolloutDeadlineSeconds: number;
  sourceDeadlineSeconds: number;
  fence: FenceSettings;
}

export function webAddress(settings: Pick<EnvironmentSettings, 'scheme' | 'port'>, host: string): string {
  return `${settings.scheme}://${host}${settings.port === undefined ? '' : `:${settings.port}`}/`;
}
