import { z } from 'zod';

/** Settings that the build Job passes to the clone container, as JSON (operator/images/build/job.ts). */
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
