import { z } from 'zod';

/** What the build Job tells the clone container, as JSON (operator/build/job.ts). */
export const cloneSettingsSchema = z.string().transform((text) =>
  z
    .strictObject({
      allowedCidrs: z.array(z.string()),
      ports: z.array(z.number()),
      sshPorts: z.array(z.number()),
      trusted: z.boolean(),
      /** The build contexts. */
      folders: z.array(z.string()),
      /** The Dockerfiles. */
      files: z.array(z.string()),
    })
    .parse(JSON.parse(text)),
);
