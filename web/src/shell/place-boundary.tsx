/** Contains an error in drawing a place: the navigation and the other places go on working. */

import { Component, type ComponentChildren } from 'preact'
import { Button, Card } from '../components.tsx'
import { visibleText } from '../format.ts'
import type { Texts } from '../texts.ts'

interface BoundaryProps {
  /** Another one is tried again. */
  readonly address: string
  readonly texts: Texts
  readonly children: ComponentChildren
}

interface BoundaryState {
  /** undefined: nothing went wrong. */
  readonly reason: string | undefined
}

export class PlaceBoundary extends Component<BoundaryProps, BoundaryState> {
  override state: BoundaryState = { reason: undefined }

  static override getDerivedStateFromError(thrown: unknown): BoundaryState {
    return { reason: String(thrown) }
  }

  override componentDidCatch(thrown: unknown): void {
    console.error(thrown)
  }

  override componentDidUpdate({ address }: BoundaryProps): void {
    if (address !== this.props.address && this.state.reason !== undefined) this.#tryAgain()
  }

  override render({ texts, children }: BoundaryProps, { reason }: BoundaryState): ComponentChildren {
    if (reason === undefined) return children
    return (
      <Card class="mx-auto mt-[12vh] max-w-lg p-6">
        <div role="alert" data-place-failed>
          <h1 class="text-xl font-semibold">{texts.placeFailedTitle}</h1>
          <p class="mt-1 text-muted">{texts.placeFailedHelp}</p>
          <p class="mt-3 rounded-md bg-sunken px-3 py-2 font-mono text-[13px] wrap-anywhere">{visibleText(reason)}</p>
          <p class="mt-4 flex flex-wrap gap-2">
            <Button look="main" onClick={this.#tryAgain}>
              {texts.tryAgain}
            </Button>
            <Button onClick={() => location.reload()}>{texts.reload}</Button>
          </p>
        </div>
      </Card>
    )
  }

  readonly #tryAgain = (): void => this.setState({ reason: undefined })
}
