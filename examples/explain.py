"""Why did I (not) get this message?

Prints:
    no match: needs 'discount' or 'sale'; 3.5 km outside the region
      wanted: (discount AND ipad) OR (ipad AND sale), within 2 km of 2.3522, 48.8566
      said:   'Is this iPad case waterproof?', at 2.2945, 48.8884
    match: has 'ipad' and 'sale'; inside the region
      wanted: (discount AND ipad) OR (ipad AND sale), within 2 km of 2.3522, 48.8566
      said:   'iPad sale!', at 2.35, 48.85
    Missing words of each alternative: [['discount'], []]
"""

import nearcast as nc


def main() -> None:
    broker = nc.Broker()
    near_the_river = nc.Circle(nc.Point(2.3522, 48.8566), 2000)
    broker.subscribe(nc.Subscription("deals", "ipad AND (discount OR sale)", near_the_river))

    question = nc.Message(1, text="Is this iPad case waterproof?", at=nc.Point(2.2945, 48.8884))
    print(broker.explain("deals", question))

    offer = nc.Message(2, text="iPad sale!", at=nc.Point(2.35, 48.85))
    explanation = broker.explain("deals", offer)
    print(explanation)
    missing = [sorted(clause.missing) for clause in explanation.clauses]
    print(f"Missing words of each alternative: {missing}")


if __name__ == "__main__":
    main()
