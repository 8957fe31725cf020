/** A dialog above the page: closed by Escape, by a click beside it, or by its buttons. */

import type { ComponentChildren } from 'preact'
import { useLayoutEffect, useRef } from 'preact/hooks'

interface DialogProps {
  readonly title: string
  readonly isWide?: boolean
  readonly children: ComponentChildren
  onClose(): void
}

const DIALOG_CLASSES = [
  'm-auto max-h-[85dvh] w-[calc(100vw-2rem)] overflow-y-auto rounded-2xl border border-line bg-surface p-0 text-ink',
  'shadow-2xl backdrop:bg-black/40',
].join(' ')

export function Dialog({ title, isWide = false, children, onClose }: DialogProps) {
  const dialog = useRef<HTMLDialogElement>(null)
  // Before anything is drawn, so that what is typed next reaches the dialog.
  useLayoutEffect(() => {
    const opened = dialog.current
    opened?.showModal()
    return () => opened?.close()
  }, [])
  return (
    // biome-ignore lint/a11y/useKeyWithClickEvents: Escape closes a dialog by itself.
    <dialog
      ref={dialog}
      class={`${DIALOG_CLASSES} ${isWide ? 'max-w-3xl' : 'max-w-lg'}`}
      aria-label={title}
      onClose={onClose}
      onClick={({ target, currentTarget }) => target === currentTarget && onClose()}
    >
      <div class="p-5 sm:p-6">
        <h2 class="text-lg font-semibold wrap-anywhere">{title}</h2>
        {children}
      </div>
    </dialog>
  )
}

export const DialogButtons = ({ children }: { readonly children: ComponentChildren }) => (
  <div class="mt-5 flex flex-wrap justify-end gap-2">{children}</div>
)
