/** A file that is copied beside the scripts; the text is its name. */
declare module '*.svg' {
  const file: string;
  export default file;
}
declare module '*.css';
