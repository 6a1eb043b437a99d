import type { ComponentChildren, JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { notify } from '../state/notices.ts';
import { useQuery } from '../state/page.ts';
import type { LogLine } from '../view/log-line.ts';
import { Icon } from './icons.tsx';

export interface LogToolbarProps {
  lines: readonly LogLine[];
  /** Number of lines; the list is extended in place. */
  count: number;
  /** Lines that match the filter. */
  shown: readonly LogLine[];
  withServices: boolean;
  /** Controls that choose the log. */
  choice: ComponentChildren;
  search: string;
  onSearch: (text: string) => void;
  found: number;
  match: number;
  onGo: (step: number) => void;
  isWrapped: boolean;
  isPaused: boolean;
  onPause: () => void;
  downloadPath?: string;
  fileName: string;
}

/** Search, filters and display of a log. */
export function LogToolbar(props: LogToolbarProps): JSX.Element {
  const { lines, count, shown, withServices, search, found, match, onGo, isPaused } = props;
  const { query, setQuery } = useQuery();
  const { services, stages } = useValues(lines, count);
  const text = () => shown.map((line) => line.text).join('\n');
  const copy = async () => {
    try {
      await navigator.clipboard.writeText(text());
      notify(`Copied ${shown.length} lines.`);
    } catch {
      notify('The browser does not permit copying here. Download the log instead.');
    }
  };
  return (
    <div class="log-toolbar filters" role="toolbar" aria-label="Log">
      {props.choice}
      <span class="log-search">
        <input
          type="search"
          aria-label="Search in the log"
          placeholder="Search"
          value={search}
          onInput={(event) => props.onSearch(event.currentTarget.value)}
          onKeyDown={(event) => {
            if (event.key === 'Enter') onGo(event.shiftKey ? -1 : 1);
          }}
        />
        <span class="muted figures" role="status">
          {search !== '' && (match >= 0 ? `${match + 1} of ${found}` : `${found} found`)}
        </span>
        <button
          type="button"
          class="icon-button"
          aria-label="Previous match"
          disabled={found === 0}
          onClick={() => onGo(-1)}
        >
          <Icon name="up" />
        </button>
        <button
          type="button"
          class="icon-button"
          aria-label="Next match"
          disabled={found === 0}
          onClick={() => onGo(1)}
        >
          <Icon name="down" />
        </button>
      </span>
      {withServices && services.length > 1 && (
        <Choice
          label="Service"
          values={services}
          value={query['service']}
          onChoose={(service) => setQuery({ service })}
        />
      )}
      {stages.length > 1 && (
        <Choice label="Stage" values={stages} value={query['only']} onChoose={(only) => setQuery({ only })} />
      )}
      <Toggle name="errors" text="Errors only" />
      <Toggle name="time" text="Timestamps" />
      <button
        type="button"
        class="chip"
        aria-pressed={props.isWrapped}
        onClick={() => setQuery({ wrap: props.isWrapped ? '0' : '1' })}
      >
        Wrap
      </button>
      <button type="button" class="chip" aria-pressed={isPaused} onClick={props.onPause}>
        <Icon name={isPaused ? 'play' : 'pause'} /> {isPaused ? 'Continue' : 'Pause'}
      </button>
      <button
        type="button"
        class="icon-button"
        aria-label="Copy the shown lines"
        title="Copy the shown lines"
        onClick={() => void copy()}
      >
        <Icon name="copy" />
      </button>
      {props.downloadPath === undefined ? (
        <button type="button" class="chip" onClick={() => download(text(), props.fileName)}>
          <Icon name="down" /> Download
        </button>
      ) : (
        <a class="button chip" href={props.downloadPath} download={props.fileName} target="_self">
          <Icon name="down" /> Download
        </a>
      )}
    </div>
  );
}

function Toggle({ name, text }: { name: string; text: string }): JSX.Element {
  const { query, setQuery } = useQuery();
  const isOn = query[name] === '1';
  return (
    <button type="button" class="chip" aria-pressed={isOn} onClick={() => setQuery({ [name]: isOn ? undefined : '1' })}>
      {text}
    </button>
  );
}

function Choice({
  label,
  values,
  value,
  onChoose,
}: {
  label: string;
  values: readonly string[];
  value: string | undefined;
  onChoose: (value: string | undefined) => void;
}): JSX.Element {
  return (
    <select aria-label={label} onInput={(event) => onChoose(event.currentTarget.value)}>
      <option value="" selected={value === undefined}>
        {`${label}: all`}
      </option>
      {values.map((one) => (
        <option key={one} value={one} selected={one === value}>
          {one}
        </option>
      ))}
    </select>
  );
}

/** Returns the services and stages of the lines. Only lines that are new since the last call are read. */
function useValues(lines: readonly LogLine[], count: number): { services: string[]; stages: string[] } {
  const known = useMemo(() => ({ read: 0, services: new Set<string>(), stages: new Set<string>() }), [lines]);
  for (; known.read < count; known.read += 1) {
    const { service = '', stage = '' } = lines[known.read] ?? {};
    if (service !== '') known.services.add(service);
    if (stage !== '') known.stages.add(stage);
  }
  return { services: [...known.services], stages: [...known.stages] };
}

function download(text: string, fileName: string): void {
  const url = URL.createObjectURL(new Blob([text], { type: 'text/plain' }));
  const link = document.createElement('a');
  link.href = url;
  link.download = fileName;
  link.click();
  URL.revokeObjectURL(url);
}
