import { durationText } from '../output/duration.ts';

export interface Detail {
  path: string;
  message: string;
}

/** Fields of the API in seconds, for which commands take durations; with the option, if it has another name. */
const durations: Readonly<Record<string, string>> = {
  seconds: '--for',
  ttl: 'the time to live',
  environmentTTL: 'environmentTTL',
  'sleep.afterSeconds': 'sleep.afterSeconds',
};

/** Other fields that commands name differently. */
const names: Readonly<Record<string, string>> = { accessPassword: 'the password', expirationTime: '--expires' };

/** Returns what is wrong with a field, in the words and units of the command line. */
export function shownDetail({ path, message }: Detail): string {
  const option = durations[path];
  if (option === undefined) return [names[path] ?? path, message].filter((part) => part !== '').join(' ');
  const inUnits = message.replace(
    /must be an integer from (\d+) to (\d+)/,
    (_all, min: string, max: string) => `must be from ${durationText(Number(min))} to ${durationText(Number(max))}`,
  );
  return `${option} ${inUnits}`;
}
