import type { Logger } from 'pino';
import type { OperatorConfig } from '../config.ts';
import { findings, type Finding } from './checks.ts';
import { readFacts, type FactClient } from './facts.ts';
import { checkSettings } from './settings.ts';

/** Checks whether the cluster meets the configuration, and returns the result of each check. */
export async function checkCluster(client: FactClient, config: OperatorConfig): Promise<Finding[]> {
  const settings = checkSettings(config);
  return findings(await readFacts(client, settings), settings);
}

/** Logs each problem of the cluster. */
export async function logFindings(
  client: FactClient,
  config: OperatorConfig,
  logger: Pick<Logger, 'warn' | 'error'>,
): Promise<void> {
  for (const { check, level, message } of await checkCluster(client, config)) {
    if (level === 'error') logger.error({ check }, message);
    if (level === 'warning') logger.warn({ check }, message);
  }
}
