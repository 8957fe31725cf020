/** The place Talk: the conversation with the agent. */

import { Card, Empty } from '../components.tsx'
import type { PlaceProps } from '../shell/place.tsx'

export function Talk({ texts }: PlaceProps) {
  return (
    <Card>
      <Empty>{texts.talk.placeholder}</Empty>
    </Card>
  )
}
