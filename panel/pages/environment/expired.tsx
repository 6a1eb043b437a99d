import type { JSX } from 'preact';
import type { EnvironmentView } from '../../api/types.ts';
import { Icon } from '../../components/icons.tsx';
import { Lasting } from '../../components/times.tsx';
import { duration } from '../../view/time.ts';

/** Why the environment is empty, if its time to live ended. Otherwise there is no such note. */
export function Expired({ environment }: { environment: EnvironmentView }): JSX.Element | null {
  const { expired, removing } = environment;
  if (!expired) return null;
  return (
    <div class="note state-empty" role="status">
      <Icon name="clock" />
      <p>
        {removing === true ? (
          'The contents are being deleted'
        ) : (
          <>
            Empty for <Lasting at={expired.at} />
          </>
        )}
        : their time to live of {duration(expired.ttl)} ended.{removing !== true && ' Create sets up new ones.'}
      </p>
    </div>
  );
}
