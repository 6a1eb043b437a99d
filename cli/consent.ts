import { CliError } from './errors.ts';
import type { Session } from './session.ts';

/** Asks at a terminal before something is deleted, unless --yes is given. @throws CliError if the answer is not yes */
export async function requireConsent({ io, given }: Session, question: string): Promise<void> {
  if (given.flag('yes') || !io.isTerminal.in || !io.isTerminal.err) return;
  const answer = await io.ask(`${question} [y/N] `);
  if (!/^y(es)?$/i.test(answer.trim())) throw new CliError('nothing was deleted. Answer y, or use --yes');
}
