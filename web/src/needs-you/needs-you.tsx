/** The place Needs you: what waits for the owner. */

import { Card, Empty } from '../components.tsx'
import type { PlaceProps } from '../shell/place.tsx'

export function NeedsYou({ texts }: PlaceProps) {
  return (
    <Card>
      <Empty>{texts.needs.empty}</Empty>
    </Card>
  )
}
