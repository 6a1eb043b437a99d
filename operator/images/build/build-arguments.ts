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
 * Returns the arguments of one image's build. Their values can be secret, so the Job takes them from the build's Secret;
 * the kubelet then puts them on buildctl's command line, which no other container sees. buildctl could read an argument
 * from the environment variable of its name, but the service file chooses the name, and LD_PRELOAD or DOCKER_CONFIG would
 * take the build's credentials. The build's number in the key keeps a pod that starts late from taking those of the next
 * build.
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
