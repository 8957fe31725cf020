/** A choice among a few, all of them visible. */

interface SwitchProps<Value extends string | number> {
  readonly label: string
  readonly value: Value
  readonly options: readonly { readonly value: Value; readonly name: string }[]
  onChoose(value: Value): void
}

const OPTION_CLASSES = 'cursor-pointer rounded px-2.5 py-1 whitespace-nowrap'

export function Switch<Value extends string | number>({ label, value, options, onChoose }: SwitchProps<Value>) {
  return (
    <fieldset class="flex rounded-md border border-line bg-surface p-0.5" aria-label={label}>
      {options.map((option) => (
        <button
          key={option.value}
          type="button"
          class={`${OPTION_CLASSES} ${option.value === value ? 'bg-sunken font-medium' : 'text-muted hover:text-ink'}`}
          aria-pressed={option.value === value}
          onClick={() => onChoose(option.value)}
        >
          {option.name}
        </button>
      ))}
    </fieldset>
  )
}
