//! Events of providers as structs of the fields that a row needs.

use std::marker::PhantomData;

use tracesift_etl::schema::{BoundFields, EventFields, Schemas};
use tracesift_etl::{ItemKind, Record};
use tracesift_trace::{Health, HealthKind};

/// Versions of an event that are remembered; more only a forged recording has.
const MAX_LAYOUTS: usize = 64;

/// Reads one struct of fields from events: places of the fields are looked up once per event id and version.
pub(super) struct Fields<E> {
    /// By id and version; `None` where nobody knows the layout.
    layouts: Vec<(u16, u8, Option<BoundFields>)>,
    event: PhantomData<fn() -> E>,
}

impl<E> Default for Fields<E> {
    fn default() -> Self {
        Self { layouts: Vec::new(), event: PhantomData }
    }
}

impl<E: EventFields> Fields<E> {
    /// The fields of an event; `None` for one that has no known layout, or is not as its layout says, which is counted.
    pub(super) fn read<'a>(
        &mut self,
        record: &Record<'a>,
        schemas: &Schemas,
        health: &mut Health,
    ) -> Option<E::Of<'a>> {
        let bound = self.bound(record, schemas)?;
        let mut fields = E::Raw::default();
        let read = bound.read(record, fields.as_mut()).map_err(|reason| reason.to_string());
        let event = read.and_then(|()| {
            E::of_fields(fields.as_mut()).map_err(|field| format!("field {field} has another type than expected"))
        });
        event
            .inspect_err(|error| {
                health.count(HealthKind::FIELDS_NOT_AS_EXPECTED, Some(record.time()), || {
                    let (provider, id) = (record.provider().unwrap_or_default(), record.event_id().unwrap_or(0));
                    let name = schemas.provider_name(provider).map_or_else(|| provider.to_string(), str::to_owned);
                    format!("{name} {id} version {}: {error}", record.version())
                });
            })
            .ok()
    }

    fn bound(&mut self, record: &Record<'_>, schemas: &Schemas) -> Option<&mut BoundFields> {
        // An event that describes itself is none of those that the provider's manifest has.
        let id = record.event_id().filter(|_| record.extended_item(ItemKind::SCHEMA).is_none())?;
        let version = record.version();
        let known = self.layouts.iter().position(|layout| (layout.0, layout.1) == (id, version));
        let place = known.unwrap_or_else(|| {
            if self.layouts.len() >= MAX_LAYOUTS {
                self.layouts.clear();
            }
            let schema = schemas.of(record.class(), false);
            self.layouts.push((id, version, schema.map(|schema| BoundFields::new(schema, E::NAMES))));
            self.layouts.len() - 1
        });
        self.layouts[place].2.as_mut()
    }
}
