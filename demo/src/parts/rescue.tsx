import { Component, type ReactNode } from 'react'

interface RescueProps {
  /** What is shown instead, once something inside has thrown. */
  otherwise: ReactNode
  children: ReactNode
}

/** Keeps an error to the part of the page that it is in. React knows of no other way to catch one than a class. */
export class Rescue extends Component<RescueProps, { isBroken: boolean }> {
  override state = { isBroken: false }

  static getDerivedStateFromError() {
    return { isBroken: true }
  }

  override render(): ReactNode {
    return this.state.isBroken ? this.props.otherwise : this.props.children
  }
}
