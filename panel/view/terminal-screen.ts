import type { IBufferCell } from '@xterm/headless';
import { ofPalette, ofRgb, styleOf, type StyledPart } from './terminal-text.ts';

/** A part of a row with one style. */
export interface ScreenPart extends StyledPart {
  /** Whether it is the cell at the cursor. */
  isCursor: boolean;
}

/** A row of the terminal's buffer. */
export interface ScreenLine {
  readonly length: number;
  getCell(x: number): IBufferCell | undefined;
}

/** Returns the parts of a row, without empty cells at its end. @param cursor the column of the cursor, if it is in this row */
export function screenParts(line: ScreenLine | undefined, cursor: number | undefined): ScreenPart[] {
  const parts: ScreenPart[] = [];
  const add = (part: ScreenPart) => {
    const last = parts.at(-1);
    if (last?.style === part.style && last.isCursor === part.isCursor) last.text += part.text;
    else parts.push(part);
  };
  for (let x = 0; x < (line?.length ?? 0); x++) {
    const cell = line?.getCell(x);
    // The second half of a wide character.
    if (!cell || cell.getWidth() === 0) continue;
    const isHidden = cell.isInvisible() !== 0;
    const text = cell.getChars();
    add({ text: text === '' || isHidden ? ' ' : text, style: cellStyle(cell), isCursor: x === cursor });
  }
  const last = parts.at(-1);
  if (last && last.style === '' && !last.isCursor) last.text = last.text.trimEnd();
  return parts.filter(({ text }) => text !== '');
}

function cellStyle(cell: IBufferCell): string {
  if (cell.isAttributeDefault()) return '';
  return styleOf({
    isBold: cell.isBold() !== 0,
    isFaint: cell.isDim() !== 0,
    isItalic: cell.isItalic() !== 0,
    isUnderlined: cell.isUnderline() !== 0,
    isInverse: cell.isInverse() !== 0,
    colour: cell.isFgDefault() ? undefined : colourOf(cell.getFgColor(), cell.isFgRGB()),
    background: cell.isBgDefault() ? undefined : colourOf(cell.getBgColor(), cell.isBgRGB()),
  });
}

function colourOf(colour: number, isRgb: boolean): number | undefined {
  return isRgb ? ofRgb((colour >> 16) & 255, (colour >> 8) & 255, colour & 255) : ofPalette(colour);
}
