import { Stalled } from '../../shared/errors.ts';
import { timeText } from '../../shared/time-text.ts';
import type { Absence, ImageLookup } from '../registry/image-lookup.ts';
import type { AwaitedImage } from './awaited-images.ts';

export interface WaitInput {
  awaited: readonly AwaitedImage[];
  /** What is known of each image, by its name. */
  lookups: ReadonlyMap<string, ImageLookup | undefined>;
  startedAt: Date;
  deadlineSeconds: number;
  /** Whether pods pull with the credentials of the group and the repository. */
  hasCredentials: boolean;
  now: Date;
}

export type WaitPlan =
  | {
      isOver: true;
      /** The images by digest. */
      images: { service: string; image: string }[];
      /** Images that Coppice cannot look for: nodes pull them by their names. */
      unknown: AwaitedImage[];
    }
  /** `message` is absent while nothing is known yet of an image, and all others exist. */
  | { isOver: false; message: string | undefined; leftMs: number };

/** Decides whether a build waits for images. Throws Stalled when the deadline has passed. */
export function planWait({ awaited, lookups, startedAt, deadlineSeconds, hasCredentials, now }: WaitInput): WaitPlan {
  const missing = awaited.flatMap((image): Missing[] => {
    const lookup = lookups.get(image.image);
    if (lookup === undefined) return [{ ...image, absence: undefined }];
    return 'digest' in lookup || lookup.absence === 'private' ? [] : [{ ...image, absence: lookup.absence }];
  });
  if (missing.length === 0) return over(awaited, lookups);
  const deadline = startedAt.getTime() + deadlineSeconds * 1000;
  const leftMs = deadline - now.getTime();
  const known = missing.filter(({ absence }) => absence !== undefined);
  if (leftMs <= 0 && known.length === missing.length) throw missed(missing, deadlineSeconds, hasCredentials);
  const message = `waiting until ${timeText(new Date(deadline))} for ${known.map(waitsFor).join('; ')}`;
  return { isOver: false, message: known.length === 0 ? undefined : message, leftMs: Math.max(leftMs, 0) };
}

type Missing = AwaitedImage & { absence: Exclude<Absence, 'private'> | undefined };

function over(awaited: readonly AwaitedImage[], lookups: WaitInput['lookups']): WaitPlan {
  const images: { service: string; image: string }[] = [];
  const unknown: AwaitedImage[] = [];
  for (const one of awaited) {
    const lookup = lookups.get(one.image);
    if (lookup && 'digest' in lookup) {
      images.push(...one.services.map((service) => ({ service, image: `${one.image}@${lookup.digest}` })));
    } else unknown.push(one);
  }
  return { isOver: true, images, unknown };
}

const now: Record<Exclude<Absence, 'private'>, string> = {
  absent: 'not in its registry yet',
  denied: 'its registry denies access, as some do until an image exists',
  failing: 'its registry does not respond, or limits requests',
};

function waitsFor({ image, services, absence }: Missing): string {
  return `the image ${image} of ${services.join(', ')} (${now[absence ?? 'absent']})`;
}

function missed(missing: readonly Missing[], seconds: number, hasCredentials: boolean): Stalled {
  const access = hasCredentials
    ? "add a Secret with credentials to the repository's registrySecrets"
    : 'note that pull requests from forks pull without credentials';
  const remedies: Record<Exclude<Absence, 'private'>, string> = {
    absent: 'its registry does not have it. Check that CI pushes it under this name, then request a build',
    denied: `its registry denies access. Check the name, and ${access}, then request a build`,
    failing: 'its registry does not respond, or limits requests. Check its name, then request a build',
  };
  const each = missing.map(({ image, services, absence }) => {
    return `the image ${image} of ${services.join(', ')}: ${remedies[absence ?? 'absent']}`;
  });
  return new Stalled('ImageMissing', `not available after ${seconds} s: ${each.join('; ')}`);
}
