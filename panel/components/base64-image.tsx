import type { JSX } from 'preact';
import { useSignal } from '@preact/signals';
import { useEffect, useRef } from 'preact/hooks';
import { decodeBytes } from '../view/base64.ts';

/** An image from base64, drawn on a canvas: the content security policy permits no data or blob addresses. */
export function Base64Image({ content, label }: { content: string; label: string }): JSX.Element {
  const canvas = useRef<HTMLCanvasElement>(null);
  const isBroken = useSignal(false);
  useEffect(() => {
    const draw = async () => {
      const image = await createImageBitmap(new Blob([decodeBytes(content)]));
      if (!canvas.current) return;
      canvas.current.width = image.width;
      canvas.current.height = image.height;
      canvas.current.getContext('2d')?.drawImage(image, 0, 0);
      image.close();
    };
    draw().catch(() => {
      isBroken.value = true;
    });
  }, [content]);
  if (isBroken.value) return <p class="fault">The image cannot be read.</p>;
  return <canvas ref={canvas} role="img" aria-label={label} class="test-image" />;
}
