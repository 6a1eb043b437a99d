import type { ComponentType, JSX } from 'preact';
import { useState } from 'preact/hooks';
import { send } from '../../api/client.ts';
import { asRequestError, RequestError } from '../../api/errors.ts';
import { environmentPath } from '../../api/paths.ts';
import type { EnvironmentView } from '../../api/types.ts';
import type { TerminalScreenProps } from '../../components/terminal.tsx';
import { Empty, ErrorNote } from '../../components/error-note.tsx';

/** What the server answers to a plain request if the session is permitted. */
const upgradeRequired = 426;

interface Opened {
  service: string;
  path: string;
  Screen: ComponentType<TerminalScreenProps>;
}

/** A shell in a service of the environment. */
export function Shell({ environment }: { environment: EnvironmentView }): JSX.Element {
  const { id, services } = environment;
  const [chosen, setChosen] = useState('');
  // The services change with builds while the page is open.
  const service = services.some(({ name }) => name === chosen) ? chosen : (services[0]?.name ?? '');
  const [opened, setOpened] = useState<Opened>();
  const [reason, setReason] = useState<string>();
  const [error, setError] = useState<RequestError>();
  const [isOpening, setOpening] = useState(false);
  if (services.length === 0) {
    return (
      <Empty title="No services">
        <p>Build the environment to open a shell in one of its services.</p>
      </Empty>
    );
  }
  const open = async () => {
    setReason(undefined);
    setError(undefined);
    setOpened(undefined);
    setOpening(true);
    try {
      const path = `${environmentPath(id)}/services/${encodeURIComponent(service)}/exec`;
      await requirePermission(path);
      const { TerminalScreen } = await import('../../components/terminal.tsx');
      setOpened({ service, path, Screen: TerminalScreen });
    } catch (thrown) {
      setError(asRequestError(thrown));
    } finally {
      setOpening(false);
    }
  };
  const isRunning = opened !== undefined && reason === undefined;
  return (
    <div class="stack-small">
      <form
        class="row"
        onSubmit={(event) => {
          event.preventDefault();
          void open();
        }}
      >
        <select aria-label="Service" disabled={isRunning} onInput={(event) => setChosen(event.currentTarget.value)}>
          {services.map(({ name }) => (
            <option key={name} value={name} selected={name === service}>
              {name}
            </option>
          ))}
        </select>
        {isRunning ? (
          <button type="button" onClick={() => setOpened(undefined)}>
            Close the shell
          </button>
        ) : (
          <button type="submit" disabled={isOpening}>
            Open a shell
          </button>
        )}
        <span class="muted">Who opens a shell is recorded, not what is typed. Shift+Tab leaves the terminal.</span>
      </form>
      <ErrorNote error={error} />
      {opened && <opened.Screen path={opened.path} label={`Shell in ${opened.service}`} onEnd={setReason} />}
      {reason !== undefined && <p role="status">{reason}</p>}
    </div>
  );
}

/** The browser hides why a handshake was refused; a request without one does not. @throws RequestError */
async function requirePermission(path: string): Promise<void> {
  try {
    await send('GET', path);
  } catch (error) {
    if (!(error instanceof RequestError) || error.status !== upgradeRequired) throw error;
  }
}
