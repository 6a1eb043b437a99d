import type { JSX } from 'preact';
import type { RepositorySettingsView } from '../../api/types.ts';
import { Copy } from '../../components/copy.tsx';
import { SecretValue } from '../../components/secret-value.tsx';

/** The webhook settings to enter at the Git host, so that it reports pushes and pull requests. */
export function Webhook({ settings: { webhook, sshPublicKey } }: { settings: RepositorySettingsView }): JSX.Element {
  return (
    <>
      <section class="stack-small">
        <h2>Webhook</h2>
        {webhook === undefined ? (
          <p class="muted">The address and the secret are shown here as soon as they are created.</p>
        ) : (
          <>
            <p class="muted">
              {webhook.created
                ? 'Coppice has created this webhook at the Git host.'
                : 'Enter both at the Git host, so that it reports pushes and pull requests. Without it, Coppice polls the host.'}
            </p>
            <dl class="definitions">
              <dt>Address</dt>
              <dd class="row">
                <code>{webhook.url}</code> <Copy text={webhook.url} label="Copy the address" />
              </dd>
              <dt>Secret</dt>
              <dd>
                <SecretValue name="the webhook's secret" value={webhook.secret} isWithheld={webhook.withheld} />
              </dd>
            </dl>
          </>
        )}
      </section>
      {sshPublicKey !== '' && (
        <section class="stack-small">
          <h2>SSH key</h2>
          <p class="muted">Add this public key to the repository at the Git host, if its address starts with ssh://.</p>
          <p class="row">
            <code class="wrap-anywhere">{sshPublicKey}</code> <Copy text={sshPublicKey} label="Copy the SSH key" />
          </p>
        </section>
      )}
    </>
  );
}
