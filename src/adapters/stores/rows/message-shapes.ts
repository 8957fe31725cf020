/** What the card and the files of a message must contain so that they can be sent. */

import { listOf, oneOf, orAbsent, storedObject, storedText } from './value-shapes.ts'

const actionShape = storedObject({
  ...{ label: storedText, command: storedText, style: orAbsent(oneOf(['primary', 'danger'])) },
})

export const cardShape = storedObject({
  title: storedText,
  items: listOf(storedObject({ id: storedText, text: storedText, actions: listOf(actionShape) })),
})

export const filesShape = listOf(storedObject({ name: storedText, path: storedText, root: orAbsent(storedText) }))
