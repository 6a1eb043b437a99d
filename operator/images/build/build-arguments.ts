import type { BuildJobInput } from './job-input.ts';
import type { PlannedImage } from '../plan/image-plan.ts';

/** An argument of one image's build. */
export interface BuildArgument {
  name: string;
  value: string;
  /** The variable of its container that contains the value. */
  variable: string;
  /** The value's key in the build's Secret. */
  key: string;
}

/**
 * Returns the arguments of one image's build. Their values can be secret, and so can a proxy's password, so the Job
 * takes them from the build's Secret. The build's number in the key keeps a pod that starts late from taking those of
 * the next build.
 */
export function buildArguments(
  { service, args }: PlannedImage,
  { number, settings }: Pick<BuildJobInput, 'number' | 'settings'>,
): BuildArgument[] {
  // The service file's arguments come last and override the proxy's.
  const all = [...Object.entries(settings.proxy ?? {}), ...Object.entries(args)];
  return all.map(([name, value], index) => ({
    ...{ name, value },
    variable: `BUILD_ARGUMENT_${index}`,
    key: `argument.${number}.${service}.${index}`,
  }));
}
