import type { ComponentChildren, JSX } from 'preact';

interface TableProps {
  /** Headings. */
  columns: readonly string[];
  /** Whether rows end with a cell of buttons. */
  hasActions?: boolean;
  /** Rows. */
  children: ComponentChildren;
}

/** A table whose rows become blocks on a narrow page. */
export function Table({ columns, hasActions = false, children }: TableProps): JSX.Element {
  return (
    <div class="card scroll-x">
      <table class="table table-stacked">
        <thead>
          <tr>
            {columns.map((column) => (
              <th key={column} scope="col">
                {column}
              </th>
            ))}
            {hasActions && (
              <th scope="col">
                <span class="visually-hidden">Actions</span>
              </th>
            )}
          </tr>
        </thead>
        <tbody>{children}</tbody>
      </table>
    </div>
  );
}
