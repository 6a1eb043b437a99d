import { z } from 'zod';
import { isSameText } from '../../../process/same-text.ts';
import type { DeliveryForm } from '../delivery.ts';
import { parseJsonBody } from './json-body.ts';

/** Header that users can configure instead of a user and a password. */
const secretHeader = 'x-coppice-webhook-secret';

const events = new Set(['git.push', 'git.pullrequest.created', 'git.pullrequest.updated', 'git.pullrequest.merged']);
const notificationSchema = z.object({ eventType: z.string(), id: z.string().optional() });

/**
 * Deliveries of Azure DevOps (https://learn.microsoft.com/azure/devops/service-hooks/events). They are not signed: the
 * secret is the password of Basic authentication, with any user, or the value of a header.
 */
export const cloudorgForm: DeliveryForm = {
  isSigned({ header }, secret) {
    const hasPassword = isSameText(basicPassword(header('authorization')), secret);
    return isSameText(header(secretHeader) ?? '', secret) || hasPassword;
  },

  read({ body }) {
    const { eventType, id } = parseJsonBody(notificationSchema, body.toString('utf8'));
    return { ids: id === undefined ? [] : [`id ${id}`], asksForSync: events.has(eventType) };
  },
};

function basicPassword(authorization: string | undefined): string {
  const encoded = /^Basic\s+(\S+)$/i.exec(authorization ?? '')?.[1] ?? '';
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  return text.includes(':') ? text.slice(text.indexOf(':') + 1) : '';
}
